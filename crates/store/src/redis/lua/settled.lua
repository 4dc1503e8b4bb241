-- Says whether settle verbs were carried out before, as far as their receipts are kept.
--
-- ARGV  receipts to the end, each 4 digits of its string and 8 bytes
-- Body  {letters}: one per receipt: k (it was), n (not that we know)

-- The time of a receipt among those of ten minutes, in milliseconds from their beginning; nil: it is not
-- there.
local function time_in(key, receipt)
  local all, wanted = call('GET', key) or '', string.sub(receipt, 5)
  local from = 1
  while true do
    local found = string.find(all, wanted, from, true)
    if not found then
      return nil
    elseif (found - 1) % RECEIPT_BYTES == 0 then
      return (struct.unpack('>I4', string.sub(all, found + RECEIPT_BYTES - 4, found + RECEIPT_BYTES - 1)))
    end
    from = found + 1
  end
end

local function is_kept(receipt)
  if time_in(receipt_key(receipt, now), receipt) then
    return true
  end
  local at = time_in(receipt_key(receipt, now - RECEIPT_MS), receipt)
  return at and at > now % RECEIPT_MS
end

local letters = {}
for i = 5, #ARGV do
  letters[#letters + 1] = is_kept(ARGV[i]) and 'k' or 'n'
end
return answer({table.concat(letters)})
