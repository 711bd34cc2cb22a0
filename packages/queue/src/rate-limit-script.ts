import { redisScript } from './redis-script.ts';

/**
 * The domain's `takeToken` over buckets in Redis, by Redis's clock, so that all gateways share
 * them. Takes tokens one after another, in the given order. KEYS[1]: the common prefix of all
 * bucket keys. ARGV, for each token: the bucket's name, tokens per second, burst. Returns for each:
 * 1 if the token was taken, and the tokens left as text, because Redis would truncate Lua numbers
 * to integers. A full bucket has no key.
 */
export const takeTokensScript = redisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local answers = {}
for index = 1, #ARGV, 3 do
  local key = KEYS[1] .. ARGV[index]
  local perSecond = tonumber(ARGV[index + 1])
  local burst = tonumber(ARGV[index + 2])
  local tokens = burst
  local kept = redis.call('HMGET', key, 'tokens', 'at')
  if kept[1] then
    local elapsed = math.max(now - tonumber(kept[2]), 0)
    tokens = math.min(tonumber(kept[1]) + elapsed * perSecond / 1000, burst)
  end
  local allowed = 0
  if tokens >= 1 then
    tokens = tokens - 1
    allowed = 1
  end
  redis.call('HSET', key, 'tokens', string.format('%.6f', tokens), 'at', string.format('%.3f', now))
  redis.call('PEXPIRE', key, math.ceil((burst - tokens) * 1000 / perSecond) + 1000)
  answers[#answers + 1] = allowed
  answers[#answers + 1] = string.format('%.6f', tokens)
end
return answers
`);

/**
 * Puts one token back into a bucket, up to its burst. KEYS[1] and ARGV as above, for one bucket.
 * The refill by elapsed time happens at the next taking. A full bucket has no key.
 */
export const giveBackScript = redisScript(`
local key = KEYS[1] .. ARGV[1]
local tokens = redis.call('HGET', key, 'tokens')
if tokens then
  local more = math.min(tonumber(tokens) + 1, tonumber(ARGV[3]))
  redis.call('HSET', key, 'tokens', string.format('%.6f', more))
end
return 1
`);
