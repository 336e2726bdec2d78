-- fixed_window: what is in use in the current window, and when that began.
local function decide(key, first, last)
  local pack, unpack = struct.pack, struct.unpack
  local window, now, changed, window_then, began, kept_until, _
  local used, latest, begins = 0, 0, 0
  local state = redis.call('GET', key)
  for i = first, last do
    local verb, cost, capacity, length, _, given = unpack('<c1ddddd', ARGV[i])
    if i == first then
      window = length
      if state and string.byte(state) == 87 and #state == 33 then
        used, begins, latest, window_then = unpack('<xdddd', state)
        began, kept_until = begins, begins + window_then
        if verb == 'G' then
          window = window_then
        end
      elseif state and verb == 'G' then
        -- It was charged by another algorithm, which alone could find it.
        answers[i] = 0
        return i
      elseif state then
        -- Charged under another algorithm.
        used, latest, begins, _, kept_until = held(state)
        used = math.ceil(used)
      end
      now = math.max(raw, latest)
      if begins + math.min(window, window_then or window) <= now then
        used = 0
      end
    elseif length ~= window or verb == 'G' and not changed and window ~= window_then then
      -- Another limit from here on.
      last = i - 1
      break
    end

    if verb == 'G' then
      if used > 0 and begins == given then
        used, changed = math.max(used - cost, 0), true
      end
      answers[i] = 0
    elseif cost > 0 and used + cost > capacity then
      -- After a shorter window all would be free at its end, and before that this one was told; or the key would be gone.
      changed = changed
        or window_then and window > window_then
        or kept_until and begins + window > kept_until + 999 * margin
      answers[i] = pack('<i8i8i8', 0, used, begins + window - raw)
    elseif verb == 'L' then
      answers[i] = pack('<i8i8i8', 1, used, 0)
    else
      if used == 0 then
        begins = now
      end
      used, changed, latest = used + cost, true, now
      answers[i] = pack('<i8i8i8i8', 1, used, now, begins)
    end
  end
  if changed and used == 0 then
    -- All was taken back.
    redis.call('DEL', key)
  elseif changed then
    local value = pack('<c1dddd', 'W', used, begins, latest, window)
    if begins == began and window == window_then then
      -- The key lives as long as it should, and does so still.
      redis.call('SETRANGE', key, '0', value)
    else
      redis.call('SET', key, value, 'PX', life(nil, begins + window))
    end
  end
  return last
end
