-- Says whether settle verbs were carried out before, as far as their receipts are kept.
--
-- ARGV  receipts to the end, each 4 digits of its bucket and the rest
-- Body  {letters}: one per receipt: k (it was), n (not that we know)

local RECEIPT_MS = 600000

local letters = {}
for i = 5, #ARGV do
  local at = call('ZSCORE', prefix .. 'r:' .. string.sub(ARGV[i], 1, 4), string.sub(ARGV[i], 5))
  letters[#letters + 1] = at and tonumber(at) + RECEIPT_MS > now and 'k' or 'n'
end
return answer({table.concat(letters)})
