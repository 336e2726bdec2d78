-- sliding_window and sliding_log: charges, each of which counts until a window after its instant.
--
-- In a log that is the instant of the charge, in a window the end of its bucket. A list holds them, the oldest first, but
-- for the newest: that stands in the first element, the head, with what is in use, the latest instant seen, the window, and
-- until when the key is kept. The head ends with a copy of the oldest, if the list has one. So most calls read the head
-- alone, and one more charge in a bucket changes it alone.

-- The instant from which a charge ages that is made at `at`.
local function placed(at, window, buckets)
  if buckets == 0 then
    return at
  end
  local into = at % window
  local bucket, ends = math.floor(into * buckets / window), 0
  repeat
    bucket = bucket + 1
    ends = math.ceil(bucket * window / buckets)
  until ends > into
  return at - into + ends
end

-- Elements are read in pages. The first comes out of the head, and the next ones are short: most calls need no more.
local page, starts, size, next_size

local function element(key, index)
  if index < starts or index >= starts + size then
    starts, size, next_size = index - index % next_size, next_size, math.min(4 * next_size, 64)
    page = redis.call('LRANGE', key, text(starts), text(starts + size - 1))
  end
  return page[index - starts + 1]
end

local function charge_at(key, index)
  local entry = element(key, index)
  if entry then
    return unpack('<dd', entry)
  end
end

-- Takes back up to `cost` permits of a charge that is not the newest, and says how many.
local function take_back(key, given, cost, oldest)
  for index = redis.call('LLEN', key) - 1, oldest, -1 do
    local instant, permits = charge_at(key, index)
    if instant < given then
      break
    elseif instant == given then
      local left = math.max(permits - cost, 0)
      if left > 0 then
        redis.call('LSET', key, text(index), pack('<dd', instant, left))
      else
        redis.call('LSET', key, text(index), 'gone')
        redis.call('LREM', key, '-1', 'gone')
      end
      size = 0
      return permits - left
    end
  end
  return 0
end

local function decide(key, first, last)
  local window, buckets, now, exists, changed, adopts, eldest, kept_until
  local used, latest, newest, permits, oldest = 0, 0, 0, 0, 1
  local head = redis.pcall('LINDEX', key, '0')
  page, starts, size, next_size = {}, 0, math.huge, 4
  for i = first, last do
    local verb, cost, capacity, length, parts, given = unpack('<c1ddddd', ARGV[i])
    if i == first then
      window, buckets = length, parts
      if type(head) == 'table' then
        -- Charged under another limit.
        used, latest = held(key, redis.pcall('GET', key))
        used = math.ceil(used)
        newest, permits = placed(latest, window, buckets), used
        adopts = true
      elseif head then
        if #head ~= 48 and #head ~= 64 then
          error(foreign, 0)
        end
        local _
        exists, used, latest, _, newest, permits, kept_until = true, unpack('<dddddd', head)
        if #head == 64 then
          page, size = { head, string.sub(head, 49) }, 2
        end
      end
      now = math.max(raw, latest)
      -- Those that have aged.
      while true do
        local instant, aged = charge_at(key, oldest)
        if not instant then
          if newest + window <= now then
            used, permits = 0, 0
          end
          break
        elseif instant + window > now then
          break
        end
        used, oldest = used - aged, oldest + 1
      end
      eldest = element(key, oldest)
    elseif length ~= window or parts ~= buckets then
      -- Another limit from here on.
      last = i - 1
      break
    end

    if verb == 'G' then
      local back = 0
      if adopts then
        -- It was charged by another algorithm, which alone could find it.
        back = 0
      elseif given == newest then
        back = math.min(permits, cost)
        permits = permits - back
      else
        back = take_back(key, given, cost, oldest)
        eldest = element(key, oldest)
      end
      used, changed = used - back, changed or back > 0
      answers[i] = 0
    elseif cost > 0 and used + cost > capacity then
      local excess, index, ready = used + cost - capacity, oldest, now
      while excess > 0 do
        local instant, frees = charge_at(key, index)
        ready = (instant or newest) + window
        if not instant then
          break
        end
        excess, index = excess - frees, index + 1
      end
      answers[i] = pack('<i8i8i8', 0, used, ready - raw)
    elseif verb == 'L' then
      answers[i] = pack('<i8i8i8', 1, used, 0)
    else
      local instant = placed(now, window, buckets)
      if newest >= instant then
        permits = permits + cost
      else
        if permits > 0 then
          if adopts then
            redis.call('DEL', key)
            redis.call('RPUSH', key, '')
            adopts, exists = false, true
          end
          local entry = pack('<dd', newest, permits)
          redis.call('RPUSH', key, entry)
          eldest, size = eldest or entry, 0
        end
        newest, permits = instant, cost
      end
      used, changed = used + cost, true
      answers[i] = pack('<i8i8i8', 1, used, newest)
    end
  end

  if changed and used == 0 then
    -- All was taken back.
    if exists or adopts then
      redis.call('DEL', key)
    end
  elseif changed then
    if permits == 0 then
      -- The newest was taken back: the one before it is the last that counts.
      local before = redis.call('LINDEX', key, '-1')
      redis.call('LTRIM', key, '0', '-2')
      newest, permits = unpack('<dd', before)
      if before == eldest then
        eldest = nil
      end
    end
    local counts_until = newest + window
    local lives_on = is_kept(kept_until, counts_until)
    if not lives_on then
      kept_until = counts_until
    end
    head = pack('<dddddd', used, now, window, newest, permits, kept_until) .. (eldest or '')
    if exists then
      if oldest > 1 then
        -- The last that has aged makes room for it.
        redis.call('LTRIM', key, text(oldest - 1), '-1')
      end
      redis.call('LSET', key, '0', head)
    else
      if adopts then
        redis.call('DEL', key)
      end
      redis.call('RPUSH', key, head)
    end
    if not lives_on then
      redis.call('PEXPIRE', key, life(counts_until))
    end
  end
  return last
end

