-- Removes tasks of a queue, whatever their state.
--
-- ARGV  queue, ids to the end
-- Body  {letters}: one per id: k (it is removed), n (there was none)

if repeated then
  return answer(repeated)
end

local q = open(ARGV[5])
local letters = {}
for i = 6, #ARGV do
  local record = q and find(q, ARGV[i])
  if record then
    unindex(q, record)
    delete(q, record.id, record.big)
  end
  letters[#letters + 1] = record and 'k' or 'n'
end
return finish({table.concat(letters)})
