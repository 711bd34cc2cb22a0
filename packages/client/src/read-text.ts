/** Reads at most this many bytes of an answer. The answers of the service are smaller. */
export const answerBytesMax = 16 * 1024 * 1024;

/**
 * Reads the body of an answer as text. Undefined if it has more than `bytesMax`. The rest is then
 * not read.
 */
export async function readText(response: Response, bytesMax: number): Promise<string | undefined> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let text = '';
  for (let length = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.length;
    if (length > bytesMax) {
      // A cancel that fails is ignored, because the connection has failed then.
      await reader.cancel().catch(() => {});
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}
