-- Reads owners.
--
-- ARGV  owners to the end, each: kind, queue, name
-- Body  per owner what `shown_owner` tells, or false if there is none; fewer than were asked for if they
--       would be over the limit of one answer

local body, bytes = {}, 0
for i = 5, #ARGV, 3 do
  local o = owner_at(ARGV[i], ARGV[i + 1], ARGV[i + 2])
  local shown, size = false, 0
  if find_owner(o) then
    shown, size = shown_owner(o)
  end
  bytes = bytes + size
  if bytes > OWNERS_BYTES_MAX and i > 5 then
    break
  end
  body[#body + 1] = shown
end
return answer(body)
