import type { TcpTarget } from './tcp-proxy.ts';

interface Host {
  readonly address: string;
  readonly prefix: readonly string[];
}

export interface Hosts {
  /** The host of a service or a node, by the name of its process, such as `gateway 0`. */
  of(processName: string): Host;
  /** The address at which the test process receives the webhooks of the services. */
  readonly tenantsAddress: string;
  /**
   * Present if the parts of the stack run on different hosts. Tenants and nodes then connect
   * without a TCP proxy in the test process. Undefined if everything runs on one host.
   */
  readonly direct?: {
    /** Starts a load balancer on the node's host. Resolves with its port on 127.0.0.1. */
    balance(nodeName: string, dispatchers: readonly Required<TcpTarget>[]): Promise<number>;
  };
}

const loopback: Host = { address: '127.0.0.1', prefix: [] };

export const oneHost: Hosts = { of: () => loopback, tenantsAddress: loopback.address };
