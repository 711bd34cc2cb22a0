import type { LineRecord } from './history.ts';

const signs: Readonly<Record<string, readonly [balance: bigint, held: bigint]>> = {
  grant: [1n, 0n],
  hold: [0n, 1n],
  charge: [-1n, -1n],
  release: [0n, -1n],
};

export class ReferenceAccount {
  #balance = 0n;
  #held = 0n;

  move(tenant: string, type: string, amountMicros: bigint, subject: string): LineRecord {
    const [ofBalance, ofHeld] = signs[type] ?? [0n, 0n];
    this.#balance += ofBalance * amountMicros;
    this.#held += ofHeld * amountMicros;
    const isGrant = type === 'grant';
    return {
      kind: 'line',
      tenant,
      id: `${type} ${subject}`,
      type,
      amountMicros,
      balanceAfterMicros: this.#balance,
      heldAfterMicros: this.#held,
      submissionId: isGrant ? null : subject,
      reference: isGrant ? subject : null,
    };
  }

  available(): bigint {
    return this.#balance - this.#held;
  }

  figures(): { balanceMicros: bigint; heldMicros: bigint } {
    return { balanceMicros: this.#balance, heldMicros: this.#held };
  }
}
