-- Decides about each key. One that fails leaves the others alone.
local i, count = 1, #KEYS
while i <= count do
  local key, kind, last = KEYS[i], string.byte(ARGV[i]), i
  while KEYS[last + 1] == key and string.byte(ARGV[last + 1]) == kind do
    last = last + 1
  end
  if kind == 82 then
    -- Resets it.
    answers[i] = redis.pcall('DEL', key)
  else
    local decide = (kind == 70 and flow) or (kind == 87 and fixed) or charges
    local fine, decided = pcall(decide, key, i, last)
    if fine then
      i = decided
    else
      -- Nothing was written for any of them.
      local failure = type(decided) == 'table' and decided or { err = decided }
      for failed = i, last do
        answers[failed] = failure
      end
      i = last
    end
  end
  i = i + 1
end
return answers
