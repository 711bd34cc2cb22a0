import process from 'node:process';
import { listenEverywhere } from './listeners.ts';

/**
 * `node test/executor/egress/neighbour-host.ts PORT…`: the second host of a trial. Says that it
 * listens, answers each message with its contacts, and ends with the trial.
 */
const listeners = await listenEverywhere(process.argv.slice(2).map(Number));
process.on('message', () => process.send?.(listeners.contacts));
process.on('disconnect', () => process.exit(0));
process.send?.('listening');
