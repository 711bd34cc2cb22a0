import { once } from 'node:events';
import { connect } from 'node:net';

/** The command fails if the server sends nothing for this time. */
const answerMsMax = 5_000;

/** Returns the unparsed answer. */
export async function redisCommand(host: string, port: number, line: string): Promise<string> {
  const socket = connect(port, host);
  socket.setTimeout(answerMsMax, () => socket.destroy(new Error('Redis does not answer')));
  try {
    await once(socket, 'connect');
    socket.end(`${line}\r\n`);
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    return answer;
  } finally {
    socket.destroy();
  }
}
