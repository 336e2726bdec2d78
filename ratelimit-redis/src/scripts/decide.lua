-- Decides about each key, as far as one fails without the others.
local function reset(key, first)
  redis.call('DEL', key)
  answers[first] = 0
  return first
end

local i, count = 1, #KEYS
while i <= count do
  local key, kind, last = KEYS[i], string.byte(ARGV[i]), i
  while KEYS[last + 1] == key and string.byte(ARGV[last + 1]) == kind do
    last = last + 1
  end
  local decide = (kind == 70 and flow) or (kind == 87 and fixed) or (kind == 67 and charges) or reset
  local fine, decided = pcall(decide, key, i, last)
  if not fine then
    -- Nothing was written for any of them.
    local failure = type(decided) == 'table' and decided or { err = decided }
    for failed = i, last do
      answers[failed] = failure
    end
    decided = last
  end
  i = decided + 1
end
return answers
