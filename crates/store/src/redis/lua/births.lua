-- Gives out births that follow each other, greater than all before.
--
-- ARGV  how many
-- Body  {birth}: the first of them

if repeated then
  return answer(repeated)
end

local first = new_birth()
last_birth = first + ARGV[5] - 1
return finish({whole(first)})
