-- sliding_window and sliding_log: charges, each of which counts until a window after its instant.
--
-- In a log that is the instant of the charge, in a window the end of its bucket. The newest stands at the begin of the key's
-- text, in the head, with all that most calls need, and the older ones in slots behind it, the oldest first. So one more
-- charge in a bucket reads the head and writes the first half of it, and a charge of its own fills one more slot.
--
-- The first half: the newest, its permits, the permits in use, when they were last charged, how many slots are filled, and
-- for how many there is room. The second: which slot is the oldest that counts, and its instant, until when the key is kept,
-- the window and the buckets by which the newest was placed, and when the budget was begun. They take 97 bytes with the C
-- before them, and a slot 16.

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
    -- Also if somebody else has written what is no number.
  until not (ends <= into)
  return at - into + ends
end

-- So many slots from that one on.
local function slots(key, index, count)
  return redis.call('GETRANGE', key, string.format('%d', 97 + 16 * index), string.format('%d', 96 + 16 * (index + count)))
end

-- Reads charges out of the slots of a key, of which so many are filled. It does so in pages, the first ones of which are
-- short: most calls need no more.
local function reader(key, filled)
  local page, begins, ends, size = '', 0, 0, 4
  return function(index)
    if index < begins or index >= ends then
      begins, ends = index, math.min(index + size, filled)
      page, size = slots(key, begins, ends - begins), math.min(4 * size, 256)
    end
    return struct.unpack('<dd', page, 1 + 16 * (index - begins))
  end
end

-- Takes back up to `cost` permits of a charge that is not the newest. Says how many, and how many slots are filled then.
local function take_back(key, given, cost, oldest, filled)
  local charge_at, index, above = reader(key, filled), oldest, filled
  while index < above do
    local middle = math.floor((index + above) / 2)
    if charge_at(middle) < given then
      index = middle + 1
    else
      above = middle
    end
  end
  local instant, permits
  if index < filled then
    instant, permits = charge_at(index)
  end
  if instant ~= given then
    return 0, filled
  end

  local place, left = string.format('%d', 97 + 16 * index), math.max(permits - cost, 0)
  if left > 0 then
    redis.call('SETRANGE', key, place, struct.pack('<dd', instant, left))
    return permits - left, filled
  end
  -- The later ones move up.
  redis.call('SETRANGE', key, place, slots(key, index + 1, filled - index - 1))
  return permits, filled - 1
end

local function decide(key, first, last)
  local pack, unpack = struct.pack, struct.unpack
  local window, buckets, now, exists, differs, adopts, changed, kept_until, charge_at
  local window_then, grid_then, oldest_then, ages_then, kept_then, born
  local newest, permits, used, latest, filled, room, oldest, ages = 0, 0, 0, 0, 0, 0, 0, 0
  local head = redis.call('GETRANGE', key, '0', '96')
  for i = first, last do
    local verb, cost, capacity, length, parts, given, made = unpack('<c1dddddd', ARGV[i])
    if i == first then
      window, buckets = length, parts
      if string.byte(head) == 67 and #head == 97 then
        newest, permits, used, latest, filled, room, oldest, ages, kept_until, window_then, grid_then, born =
          unpack('<xdddddddddddd', head)
        if not (used >= 0 and latest < 9007199254740992 and oldest >= 0 and oldest <= filled and filled <= room) then
          error('the key holds no budget of this version', 0)
        end
        if verb == 'G' then
          window, buckets = window_then, grid_then
        end
        exists, differs = true, window_then ~= window or grid_then ~= buckets
        oldest_then, ages_then, kept_then = oldest, ages, kept_until
        local ends = differs and placed(latest, window, buckets) or newest
        if newest > ends then
          -- Buckets were longer. No charge counts for longer than if it had been made with the last one, and by this limit.
          newest = ends
          while oldest < filled do
            local instant, more = reader(key, filled)(filled - 1)
            if instant < ends then
              break
            end
            permits, filled = permits + more, filled - 1
          end
        end
      elseif head ~= '' and verb == 'G' then
        -- It was charged by another algorithm, which alone could find it.
        answers[i] = 0
        return i
      elseif head ~= '' then
        -- Charged under another algorithm.
        local in_use, _
        in_use, latest, _, _, kept_then = held(head)
        adopts, differs, used = true, true, math.ceil(in_use)
        newest, permits = placed(latest, window, buckets), used
      end
      now = math.max(raw, latest)
      if not born or differs and (buckets > 0 or grid_then > 0) then
        born = now
      end
      -- Those that have aged.
      while oldest < filled and ages + window <= now do
        charge_at = charge_at or reader(key, filled)
        local _, frees = charge_at(oldest)
        used, oldest = used - frees, oldest + 1
        if oldest < filled then
          ages = charge_at(oldest)
        end
      end
      if oldest == filled then
        oldest, filled = 0, 0
        if newest + window <= now then
          used, permits = 0, 0
        end
      end
    elseif
      length ~= window
      or parts ~= buckets
      or verb == 'G' and not changed and differs
    then
      -- Another limit from here on.
      last = i - 1
      break
    end

    if verb == 'G' then
      -- What was charged before a reset is none of this budget's.
      local back = 0
      if made >= born and given == newest then
        back = math.min(permits, cost)
        permits = permits - back
      elseif made >= born then
        back, filled = take_back(key, given, cost, oldest, filled)
        charge_at = nil
        if back > 0 and oldest < filled then
          charge_at = reader(key, filled)
          ages = charge_at(oldest)
        end
      end
      used, changed = used - back, changed or back > 0
      if used == 0 then
        -- What comes now begins anew.
        born = now
      end
      answers[i] = 0
    elseif cost > 0 and used + cost > capacity then
      -- What was kept for a shorter time would be gone.
      changed = changed or differs and newest + window > kept_then + 999 * margin
      local excess, index, instant = used + cost - capacity, oldest, newest
      if excess == 1 and oldest < filled then
        -- Whatever the oldest frees, it is enough.
        instant = ages
      elseif oldest < filled then
        charge_at = charge_at or reader(key, filled)
        while excess > 0 and index < filled do
          local frees
          instant, frees = charge_at(index)
          excess, index = excess - frees, index + 1
        end
        if excess > 0 then
          instant = newest
        end
      end
      answers[i] = pack('<i8i8i8', 0, used, instant + window - raw)
    elseif verb == 'L' then
      answers[i] = pack('<i8i8i8', 1, used, 0)
    else
      -- To find a bucket's end takes as long as to read the key: mostly it is known.
      local instant = newest
      if newest <= now or differs then
        instant = placed(now, window, buckets)
      end
      if newest >= instant then
        permits = permits + cost
      else
        if permits > 0 then
          if adopts then
            redis.call('DEL', key)
            adopts = false
          end
          if oldest == filled then
            ages = newest
          end
          local charge, length = pack('<dd', newest, permits), nil
          if exists and filled == room then
            -- The server takes longer to be told where.
            length = redis.call('APPEND', key, charge)
          else
            length = redis.call('SETRANGE', key, string.format('%d', 97 + 16 * filled), charge)
          end
          exists, filled, room, charge_at = true, filled + 1, (length - 97) / 16, nil
        end
        newest, permits = instant, cost
      end
      used, changed, latest = used + cost, true, now
      answers[i] = pack('<i8i8i8i8', 1, used, now, newest)
    end
  end

  if changed and used == 0 then
    -- All was taken back.
    redis.call('DEL', key)
  elseif changed then
    if permits == 0 then
      -- The newest was taken back: the one before it is the last that counts.
      filled = filled - 1
      newest, permits = reader(key, filled + 1)(filled)
    end
    local count = filled - oldest
    if oldest > 8 + count / 2 then
      -- Those that count move to the front, in pieces, so that the server does not have to hold them twice.
      for moved = 0, count - 1, 4096 do
        local piece = slots(key, oldest + moved, math.min(4096, count - moved))
        redis.call('SETRANGE', key, string.format('%d', 97 + 16 * moved), piece)
      end
      oldest, filled = 0, count
    end
    local is_too_roomy = room > 64 + 4 * count
    if is_too_roomy then
      room = filled
    end
    local expires = life(kept_until, newest + window)
    if expires then
      kept_until = newest + window
    end
    head = pack('<c1dddddd', 'C', newest, permits, used, latest, filled, room)
    if expires or oldest ~= oldest_then or ages ~= ages_then or differs then
      head = head .. pack('<dddddd', oldest, ages, kept_until, window, buckets, born)
    end
    if not exists then
      redis.call('SET', key, head, 'PX', expires)
    else
      redis.call('SETRANGE', key, '0', head)
      if expires then
        redis.call('PEXPIRE', key, expires)
      end
      if is_too_roomy then
        redis.call('SET', key, redis.call('GETRANGE', key, '0', string.format('%d', 96 + 16 * filled)), 'KEEPTTL')
      end
    end
  end
  return last
end
