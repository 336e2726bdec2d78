-- What every algorithm needs. A call of the script decides about KEYS[i] as ARGV[i] asks, for each i, and answers[i] is what
-- comes of it. Calls for one key stand together: their budget is read once, and written once if it has changed. It is kept
-- packed: whole numbers as doubles, which hold them exactly, and which cost less than text. The first byte tells what has
-- charged it last: W (87) a fixed window, F (70) a flow, C (67) charges.
--
-- The answer to a charge is 1, what is in use, when it was made, from when on it counts, and a begun permit's part if it
-- flows; the answer to a denial 0, what is in use, the wait, and the like.
--
-- Under another limit than the one before, what is in use ages as the new limit says, from when it was last charged. What
-- flows does so from when it is first asked for: then a denied call, too, writes what it has found, so that what it tells is
-- true. So it does if the key would be forgotten too early. What is given back changes no limit. And if it was charged before
-- the budget was begun, or was reset, or its buckets were changed, it is not found any more, and ages.
--
-- The server takes about as long to make a function, and to keep a variable for it, as to do what little it is for. So there
-- are few, and what only some calls need makes its own.
local answers = {}

-- What the budget holds, whatever algorithm has charged it last: permits in use now, when it was last charged, since when
-- they count, when it was begun, and until when it is kept. Begun permits may be told as fractions. `state` is the key's text.
local function held(state)
  local unpack, kind = struct.unpack, string.byte(state)
  local used, latest, since, born, kept_until
  if kind == 87 and #state == 33 then
    -- A fixed window.
    local window
    used, since, latest, window = unpack('<xdddd', state)
    born, kept_until = since, since + window
    if since + window <= math.max(raw, latest) then
      used = 0
    end
  elseif kind == 70 and #state == 57 then
    -- A flow.
    local whole, part, max, length
    whole, part, max, length, latest, kept_until, born = unpack('<xddddddd', state)
    used = math.max(((whole - math.max(raw, latest)) * 1000 * max + part) / length, 0)
    -- Not the instant of a charge, by which a window would find it: of what is left, nobody knows whose it is.
    since = latest + 1
    local near = math.floor(used + 0.5)
    if math.abs(used - near) < 0.000001 then
      used = near
    end
  elseif kind == 67 and #state >= 97 then
    -- Charges, each with its instant.
    local instant, permits, filled, oldest, window, _
    instant, permits, _, latest, filled, _, oldest, _, kept_until, window, _, born = unpack('<xdddddddddddd', state)
    used, since = 0, latest
    while instant + window > math.max(raw, latest) do
      used, since = used + permits, math.min(instant, latest)
      filled = filled - 1
      if filled < oldest then
        break
      end
      instant, permits = unpack('<dd', state, 98 + 16 * filled)
    end
  end
  if not (used and used >= 0 and latest < 9007199254740992) then
    error('the key holds no budget of this version', 0)
  end
  return used, latest, since, born, kept_until
end

-- Whether a key that is kept for what counts until `kept_until` may be left so for what counts until `instant`: half of the
-- margin may be used up by that. If not, for how many milliseconds it is to be kept. To set a key's life takes about as long
-- as all else that is written.
local function life(kept_until, instant)
  if kept_until and kept_until <= instant and instant <= kept_until + 500 * margin then
    return nil
  end
  return string.format('%d', (instant - raw) / 1000 + margin)
end
