-- One alone, as most are, is decided about without more ado, and told bare: a list takes longer.
local i, count = 1, #KEYS
if count == 1 and ARGV[1] ~= 'reset' then
  decide(KEYS[1], 1, 1)
  return answers[1]
end

-- Decides about each key. One that fails leaves the others alone.
while i <= count do
  local key, last = KEYS[i], i
  if ARGV[i] == 'reset' then
    answers[i] = redis.pcall('DEL', key)
  else
    while KEYS[last + 1] == key and ARGV[last + 1] ~= 'reset' do
      last = last + 1
    end
    local fine, decided = pcall(decide, key, i, last)
    if fine then
      last = decided
    else
      -- Nothing was written for any of them.
      local failure = type(decided) == 'table' and decided or { err = 'ERR ' .. decided }
      for failed = i, last do
        answers[failed] = failure
      end
    end
  end
  i = last + 1
end
return count == 1 and answers[1] or answers
