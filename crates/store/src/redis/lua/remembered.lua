-- Reads what a shard remembers besides its records, a piece at a time.
--
-- ARGV  which: 'reserved' (ids of a queue), 'receipts' or 'keyed'; the position, '0' to begin; the queue
-- Body  {next, flat}: the position to go on from ('' if that was all), and
--         reserved: id and until when
--         receipts: when their ten minutes began, and a string of them
--         keyed: key, time, request, letters, blob, queue or ''

local CHUNK = 500
-- Strings of receipts, of each ten minutes, and how many of them are read at a time.
local STRINGS, STRINGS_CHUNK = 16384, 512

local which, position = ARGV[5], tonumber(ARGV[6])
local flat, following = {}, ''

local function read_reserved()
  flat = call('ZRANGE', prefix .. 'reserved:' .. escape(ARGV[7]), position, position + CHUNK - 1, 'WITHSCORES')
  if #flat == 2 * CHUNK then
    following = whole(position + CHUNK)
  end
end

local function read_receipts()
  local to = math.min(position + STRINGS_CHUNK, STRINGS)
  for _, at in ipairs({now - RECEIPT_MS, now}) do
    local keys = {}
    for n = position, to - 1 do
      keys[#keys + 1] = receipt_key(string.format('%04x', n), at)
    end
    local began = whole(math.floor(at / RECEIPT_MS) * RECEIPT_MS)
    for _, receipts in ipairs(call('MGET', unpack(keys))) do
      if receipts then
        flat[#flat + 1] = began
        flat[#flat + 1] = receipts
      end
    end
  end
  if to < STRINGS then
    following = whole(to)
  end
end

local function read_keyed()
  local entries = call('LRANGE', prefix .. 'keyed:order', position, position + CHUNK - 1)
  for _, entry in ipairs(entries) do
    local key, at = string.sub(entry, 1, 16), tonumber(string.sub(entry, 17))
    local packed = call('HGET', prefix .. 'keyed', key)
    local known = packed and cmsgpack.unpack(packed)
    -- It may have been forgotten, and another have the key.
    if known and known[1] == at then
      for _, part in ipairs({key, whole(at), known[2], known[3], known[4], known[5] or ''}) do
        flat[#flat + 1] = part
      end
    end
  end
  if #entries == CHUNK then
    following = whole(position + CHUNK)
  end
end

local readers = {reserved = read_reserved, receipts = read_receipts, keyed = read_keyed}
readers[which]()
return answer({following, flat})
