-- sliding_window and sliding_log: a list of charges, each of which counts until a window after its instant.
--
-- In a log that is the instant of the charge, in a window the end of its bucket. The first element is what is in use,
-- the latest instant seen and the window.
local window, buckets, given = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

-- The instant from which a charge ages that is made at `at`.
local function placed(at)
  if buckets == 0 then
    return at
  end
  local into = math.fmod(at, window)
  local bucket, ends = math.floor(into * buckets / window), 0
  repeat
    bucket = bucket + 1
    ends = math.ceil(bucket * window / buckets)
  until ends > into
  return at - into + ends
end

-- Elements are read in pages. The first are enough for most calls.
local page, first, size = redis.pcall('LRANGE', key, 0, 1), 0, 2
local exists = page[1] ~= nil

local function element(index)
  if index < first or index >= first + size then
    first, size = index - math.fmod(index, 64), 64
    page = redis.call('LRANGE', key, first, first + size - 1)
  end
  return page[index - first + 1]
end

local function charge_at(index)
  local entry = element(index)
  if entry then
    return unpack('<dd', entry)
  end
end

local used, latest, kept_for, adopted = 0, 0, 0, nil
if page.err then
  local permits, at = held()
  used, latest = math.ceil(permits), at
  adopted = pack('<dd', placed(at), used)
  -- As if it were kept so.
  page, size = { '', adopted }, 64
elseif exists then
  if #page[1] ~= 24 then
    refuse()
  end
  used, latest, kept_for = unpack('<ddd', page[1])
end
local now = math.max(raw, latest)

-- The first that still counts.
local oldest = 1
while true do
  local instant, permits = charge_at(oldest)
  if not instant or instant + window > now then
    break
  end
  used, oldest = used - permits, oldest + 1
end

-- Drops what has aged, and writes the first element.
local function write()
  local head = pack('<ddd', used, now, window)
  if adopted then
    redis.call('DEL', key)
    redis.call('RPUSH', key, head)
    if oldest == 1 then
      redis.call('RPUSH', key, adopted)
    end
  elseif not exists then
    redis.call('RPUSH', key, head)
  elseif oldest > 1 then
    redis.call('LTRIM', key, oldest, -1)
    redis.call('LPUSH', key, head)
  else
    redis.call('LSET', key, 0, head)
  end
end

local function newest()
  local entry = redis.call('LINDEX', key, -1)
  if #entry == 16 then
    return unpack('<dd', entry)
  end
end

if verb == 'give' then
  if adopted then
    return 0
  end
  local index = redis.call('LLEN', key) - 1
  while index >= oldest do
    local instant, permits = charge_at(index)
    if instant == given then
      local back = math.min(permits, cost)
      used = used - back
      if back == permits then
        redis.call('LSET', key, index, 'gone')
        redis.call('LREM', key, -1, 'gone')
      else
        redis.call('LSET', key, index, pack('<dd', instant, permits - back))
      end
      write()
      redis.call('PEXPIRE', key, life(math.max(newest() or now, now) + window))
      return back
    elseif instant < given then
      return 0
    end
    index = index - 1
  end
  return 0
end

if cost > 0 and used + cost > capacity then
  local excess, index, ready = used + cost - capacity, oldest, now
  while excess > 0 do
    local instant, permits = charge_at(index)
    if not instant then
      break
    end
    excess, index, ready = excess - permits, index + 1, instant + window
  end
  return { 0, used, ready - raw }
end
if verb == 'look' then
  return { 1, used, 0 }
end

used = used + cost
write()
local instant = placed(now)
local last, permits = newest()
if last and last >= instant then
  instant = last
  redis.call('LSET', key, -1, pack('<dd', last, permits + cost))
else
  redis.call('RPUSH', key, pack('<dd', instant, cost))
  kept_for = 0
end
-- One more charge in a bucket lives no longer than the first.
if kept_for ~= window then
  redis.call('PEXPIRE', key, life(instant + window))
end
return { 1, used, instant }
