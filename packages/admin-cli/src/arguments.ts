import { fromWireId, type IdPrefix, parseCreditsExact } from '@svc/domain';
import { InvalidArgumentError } from 'commander';

/** Parsers of arguments: what they throw is wrong usage (exit code 2). */

/** The UUID of an id as the wire shows it. */
export function idArgument(prefix: IdPrefix): (text: string) => string {
  return (text) => {
    const id = fromWireId(prefix, text);
    if (id === undefined) throw new InvalidArgumentError(`It must be an id like ${prefix}_….`);
    return id;
  };
}

/** Micro-credits of an amount in credits. */
export function creditsArgument(text: string): bigint {
  const micros = parseCreditsExact(text);
  if (micros === undefined) {
    throw new InvalidArgumentError(
      'It must be a number from 0 to below 10^9 with at most six decimals.',
    );
  }
  return micros;
}

const nameLengthMax = 128;

/** A name for people, 1 to 128 characters. */
export function nameArgument(text: string): string {
  const length = Array.from(text).length;
  if (length < 1 || length > nameLengthMax || text.trim() === '') {
    throw new InvalidArgumentError(`It must have 1 to ${nameLengthMax} characters.`);
  }
  return text;
}

/** For an option that may be given several times. */
export function collect(text: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), text];
}
