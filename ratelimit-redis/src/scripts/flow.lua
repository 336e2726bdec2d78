-- token_bucket, gcra and leaky_bucket: when the budget would be full again.
--
-- That is a number of whole microseconds and a part of one, in units of which `max * 1000` make a microsecond: so a permit,
-- `window` nanoseconds of `max` permits, is a whole number of units at any rate. What takes a multiplication that a
-- double cannot hold was done by the caller.
local function decide(key, first, last)
  local pack, unpack = struct.pack, struct.unpack
  local state = redis.call('GET', key)
  local exists, changed = state, false
  local whole, part, now, latest, by_max, by_length, kept_until, born, differs
  for i = first, last do
    local verb, cost, max, length, cost_whole, cost_part, room_whole, room_part, untouched, given, made =
      unpack('<c1dddddddddd', ARGV[i])
    if i == first then
      whole, part, latest = untouched, 0, 0
      if state and string.byte(state) == 70 and #state == 57 then
        whole, part, by_max, by_length, latest, kept_until, born = unpack('<xddddddd', state)
      end
      differs = state and (by_max ~= max or by_length ~= length)
      if differs and verb == 'G' then
        if not by_max then
          -- It was charged by another algorithm, which alone could find it.
          answers[i] = 0
          return i
        end
        -- Of what flows as it did when it was charged.
        max, length, differs = by_max, by_length, false
        cost_whole, cost_part = math.floor(cost * length / (max * 1000)), 0
      elseif differs then
        local permits, _
        permits, latest, _, born = held(state)
        whole, part = math.max(raw, latest) + math.floor(permits * length / (max * 1000) + 0.001), 0
      end
      by_max, by_length, now = max, length, math.max(raw, latest)
      if whole < now then
        whole, part = now, 0
      end
      born = born or now
    elseif max ~= by_max or length ~= by_length or verb == 'G' and not changed and differs then
      -- Another limit from here on.
      last = i - 1
      break
    end

    local units = max * 1000
    -- When there is room.
    local ready, rest = whole - room_whole, part - room_part
    if rest < 0 then
      ready, rest = ready - 1, rest + units
    end
    if rest > 0 then
      ready = ready + 1
    end
    if verb == 'G' then
      -- Less what has flowed since, and no more than is in use.
      local back = cost_whole - math.max(now - given, 0)
      if exists and back >= 0 and made >= born then
        whole, part, changed = whole - back, part - cost_part, true
        if part < 0 then
          whole, part = whole - 1, part + units
        end
        if whole < now then
          whole, part = now, 0
        end
        if whole == now and part == 0 then
          -- What comes now begins anew.
          exists, born = false, now
        end
      end
      answers[i] = 0
    elseif cost > 0 and ready > now then
      changed = changed or differs
      answers[i] = pack('<i8i8i8i8i8', 0, whole - now, ready - raw, 0, part)
    elseif verb == 'L' then
      answers[i] = pack('<i8i8i8i8i8', 1, whole - now, 0, 0, part)
    else
      local clear = whole
      whole, part = whole + cost_whole, part + cost_part
      if part >= units then
        whole, part = whole + 1, part - units
      end
      exists, changed, latest = true, true, now
      answers[i] = pack('<i8i8i8i8i8', 1, whole - now, now, clear, part)
    end
  end
  if changed and whole == now and part == 0 then
    -- All was taken back.
    redis.call('DEL', key)
  elseif changed then
    local expires = life(kept_until, whole + 1)
    if expires then
      kept_until = whole + 1
    end
    local value = pack('<c1ddddddd', 'F', whole, part, by_max, by_length, latest, kept_until, born)
    if expires then
      redis.call('SET', key, value, 'PX', expires)
    else
      redis.call('SETRANGE', key, '0', value)
    end
  end
  return last
end

