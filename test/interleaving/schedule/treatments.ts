import { createRandom } from '../../simulation/random.ts';

/**
 * How the scheduler of one run treats all events of one name. An event is, for example, a call, an
 * answer, a frame or a job. Most names are `plain`.
 */
type Treatment = 'slow' | 'failing' | 'plain';

/** On average, one name in this many is slow, and one name in this many is failing. */
const treatedOneIn = 8;

/** The treatment of each event name. It depends only on the seed and the name. */
export class Treatments {
  readonly #seed: number;
  readonly #known = new Map<string, Treatment>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  of(name: string): Treatment {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    let hash = this.#seed;
    for (let at = 0; at < name.length; at += 1)
      hash = (Math.imul(hash, 31) + name.charCodeAt(at)) | 0;
    const drawn = createRandom(hash).nat(treatedOneIn);
    const treatment = drawn === 0 ? 'slow' : drawn === 1 ? 'failing' : 'plain';
    this.#known.set(name, treatment);
    return treatment;
  }
}
