-- Requests with an `Idempotency-Key`: what is remembered of them, in the step that carries them out.

local DAY_MS = 86400000
local KEYS_MAX = 1000000
local keyed_key, order_key = prefix .. 'keyed', prefix .. 'keyed:order'

-- What is remembered under a key: {at, request, letters, blob, queue}; nil: nothing.
local function recall(key)
  local packed = call('HGET', keyed_key, key)
  local known = packed and cmsgpack.unpack(packed)
  return known and known[1] + DAY_MS > now and known or nil
end

local function forget_old()
  for _ = 1, 4 do
    local oldest = call('LINDEX', order_key, 0)
    if not oldest then
      return
    end
    local key, at = string.sub(oldest, 1, 16), tonumber(string.sub(oldest, 17))
    if at + DAY_MS > now and call('LLEN', order_key) <= KEYS_MAX then
      return
    end
    call('LPOP', order_key)
    local packed = call('HGET', keyed_key, key)
    if packed and cmsgpack.unpack(packed)[1] == at then
      call('HDEL', keyed_key, key)
    end
  end
end

-- Remembers a request in that form; `is_known`: in place of what was.
local function remember(key, known, is_known)
  call('HSET', keyed_key, key, cmsgpack.pack(known))
  if not is_known then
    call('RPUSH', order_key, key .. whole(known[1]))
    forget_old()
  end
end
