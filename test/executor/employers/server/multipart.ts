import { createHash } from 'node:crypto';

export interface ReceivedFile {
  readonly field: string;
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
}

type ReceivedFields = Readonly<Record<string, readonly string[]>>;

export interface ReceivedForm {
  readonly fields: ReceivedFields;
  readonly files: readonly ReceivedFile[];
}

export function createFields() {
  const fields: Record<string, string[]> = {};
  return {
    fields,
    add: (name: string, value: string): void => {
      (fields[name] ??= []).push(value);
    },
  };
}

const blankLine = Buffer.from('\r\n\r\n');

function partsOf(body: Buffer, boundary: string): { head: string; content: Buffer }[] {
  const separator = Buffer.from(`--${boundary}`);
  const parts: { head: string; content: Buffer }[] = [];
  let start = body.indexOf(separator);
  while (start >= 0) {
    const end = body.indexOf(separator, start + separator.length);
    if (end < 0) break;
    const part = body.subarray(start + separator.length + 2, end - 2);
    const split = part.indexOf(blankLine);
    if (split < 0)
      throw new Error('a part of the multipart body has no blank line after its headers');
    parts.push({
      head: part.subarray(0, split).toString('utf8'),
      content: part.subarray(split + blankLine.length),
    });
    start = end;
  }
  return parts;
}

/** Browsers write a double quote in a name as `%22`. */
function parameterOf(head: string, name: string): string | undefined {
  return new RegExp(`[; ]${name}="([^"]*)"`, 'iu').exec(head)?.[1]?.replaceAll('%22', '"');
}

/**
 * Parses `multipart/form-data`. Throws if the content type has no boundary, or if a part has no
 * blank line after its head.
 */
export function parseMultipart(body: Buffer, contentType: string): ReceivedForm {
  const boundary = /boundary="?([^";]+)/iu.exec(contentType)?.[1];
  if (boundary === undefined) throw new Error('the Content-Type of the form has no boundary');
  const { fields, add } = createFields();
  const files: ReceivedFile[] = [];
  for (const { head, content } of partsOf(body, boundary)) {
    const field = parameterOf(head, 'name') ?? '';
    // The file name. Undefined for a text field. Empty for a file field without a file.
    const name = parameterOf(head, 'filename');
    if (name === undefined) add(field, content.toString('utf8').replaceAll('\r\n', '\n'));
    else if (name !== '') {
      const type = /content-type: *([^\r\n]+)/iu.exec(head)?.[1] ?? '';
      files.push({
        field,
        name,
        contentType: type,
        bytes: content.length,
        sha256: createHash('sha256').update(content).digest('hex'),
      });
    }
  }
  return { fields, files };
}
