import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

/**
 * Blocks connections of test processes to other machines. They fail with `ERR_IP_BLOCKED`.
 * `dns.lookup` resolves only the name `localhost`.
 */

const elsewhere = new net.BlockList();
elsewhere.addRange('0.0.0.1', '126.255.255.255');
elsewhere.addRange('128.0.0.0', '255.255.255.255');
elsewhere.addRange('::2', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'ipv6');

const connecting: { connect: (...words: never[]) => unknown } = net.Socket.prototype;
connecting.connect = new Proxy(connecting.connect, {
  apply(connect, socket: net.Socket, words: never[]) {
    Object.assign(socket, { blockList: elsewhere });
    return Reflect.apply(connect, socket, words);
  },
});

/** No server listens at this address, so a query is refused at once. */
const noNameServer = '127.0.0.1:9';

/** A new `Resolver` queries `noNameServer` until its `setServers` is called. */
dns.Resolver = class extends dns.Resolver {
  constructor(options?: dns.ResolverOptions) {
    super(options);
    this.setServers([noNameServer]);
  }
};

dns.lookup = new Proxy(dns.lookup, {
  apply(lookup, _, words: [name: string, ...unknown[]]) {
    const [name] = words;
    if (net.isIP(name) !== 0 || name === 'localhost') return Reflect.apply(lookup, dns, words);
    const callback = words.at(-1);
    const error = Object.assign(new Error(`a test may look up only localhost, not ${name}`), {
      code: 'ENOTFOUND',
    });
    if (typeof callback === 'function') process.nextTick(callback, error);
  },
});

syncBuiltinESMExports();
