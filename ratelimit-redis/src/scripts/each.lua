-- Decides about each key. One that fails leaves the others alone. One answer alone is told bare: a list takes longer.
local i, count = 1, #KEYS
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
      local failure = type(decided) == 'table' and decided or { err = decided }
      for failed = i, last do
        answers[failed] = failure
      end
    end
  end
  i = last + 1
end
return count == 1 and answers[1] or answers
