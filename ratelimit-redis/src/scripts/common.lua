local key, verb, cost, capacity = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

if verb == 'reset' then
  return redis.call('DEL', key)
end

-- What is kept is packed: whole numbers as doubles, which hold them exactly, and which cost less than text.
local pack, unpack = struct.pack, struct.unpack

-- For how many milliseconds a key is kept that counts until `instant`.
local function life(instant)
  return string.format('%.0f', math.ceil(math.max(instant - raw, 0) / 1000) + margin)
end

local function refuse()
  error('the key holds no budget of this version')
end

-- What the budget holds, whatever algorithm has charged it last: permits in use, when it was last charged, and since
-- when they count. Begun permits may be told as fractions.
local function held()
  local state = redis.pcall('GET', key)
  if not state then
    return 0, 0, 0
  end
  if type(state) == 'string' then
    local kind = string.byte(state)
    if kind == 87 and #state == 33 then
      local _, used, begins, latest, window = unpack('<c1dddd', state)
      if begins + window <= math.max(raw, latest) then
        used = 0
      end
      return used, latest, begins
    end
    if kind ~= 70 or #state ~= 41 then
      refuse()
    end
    local _, whole, part, max, length, at = unpack('<c1ddddd', state)
    local permits = ((whole - at) * 1000 * max + part) / length
    local near = math.floor(permits + 0.5)
    if math.abs(permits - near) < 0.000001 then
      permits = near
    end
    return permits, at, at
  end
  local entries = redis.call('LRANGE', key, 0, -1)
  if #entries[1] ~= 24 then
    refuse()
  end
  local _, latest, window = unpack('<ddd', entries[1])
  local used, since, now = 0, latest, math.max(raw, latest)
  for i = #entries, 2, -1 do
    local instant, permits = unpack('<dd', entries[i])
    if instant + window <= now then
      break
    end
    used, since = used + permits, math.min(instant, latest)
  end
  return used, latest, since
end

