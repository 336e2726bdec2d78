-- What every algorithm needs. A call of the script decides about KEYS[i] as ARGV[i] asks, for each i, and answers[i] is what
-- comes of it. Calls for one key stand together: their budget is read once, and written once if it has changed. It is kept
-- packed: whole numbers as doubles, which hold them exactly, and which cost less than text.
local pack, unpack = struct.pack, struct.unpack
local answers = {}
local foreign = 'ERR the key holds no budget of this version'

-- A number for a command, without its fraction. The server itself takes longer to write one than for most commands.
local function text(number)
  return string.format('%d', number)
end

-- For how many milliseconds a key is kept that counts until `instant`.
local function life(instant)
  return text((instant - raw) / 1000 + margin)
end

-- Whether a key that is kept for what counts until `kept_until` may be left so for what counts until `instant`. Half of the
-- margin may be used up by that. To set a key's life takes about as long as all else that is written.
local function is_kept(kept_until, instant)
  return kept_until and kept_until <= instant and instant <= kept_until + 500 * margin
end

-- What the budget holds, whatever algorithm has charged it last: permits in use, when it was last charged, since when they
-- count, and for how long if all of them do. Begun permits may be told as fractions. `state` is the key's text, if it has one.
local function held(key, state)
  if not state then
    return 0, 0, 0
  end
  if type(state) == 'string' then
    local kind = string.byte(state)
    if kind == 87 and #state == 33 then
      local used, begins, latest, window = unpack('<xdddd', state)
      if begins + window <= math.max(raw, latest) then
        used = 0
      end
      return used, latest, begins, window
    end
    if kind ~= 70 or #state ~= 49 then
      error(foreign, 0)
    end
    local whole, part, max, length, at = unpack('<xddddd', state)
    local permits = ((whole - at) * 1000 * max + part) / length
    local near = math.floor(permits + 0.5)
    if math.abs(permits - near) < 0.000001 then
      permits = near
    end
    return permits, at, at
  end
  local entries = redis.call('LRANGE', key, '0', '-1')
  if #entries[1] ~= 48 and #entries[1] ~= 64 then
    error(foreign, 0)
  end
  local _, latest, window, newest, permits = unpack('<ddddd', entries[1])
  local used, since, now = 0, latest, math.max(raw, latest)
  entries[#entries + 1] = pack('<dd', newest, permits)
  for i = #entries, 2, -1 do
    local instant, permits = unpack('<dd', entries[i])
    if instant + window <= now then
      break
    end
    used, since = used + permits, math.min(instant, latest)
  end
  return used, latest, since
end

