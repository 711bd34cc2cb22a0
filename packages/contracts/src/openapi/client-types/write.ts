import { clientTypes } from './model.ts';
import { pythonTypes } from './python.ts';
import { typescriptTypes } from './typescript.ts';

export interface GeneratedFile {
  readonly url: URL;
  readonly text: string;
}

const checkout = new URL('../../../../../', import.meta.url);

export function generatedFiles(document: unknown): readonly GeneratedFile[] {
  const types = clientTypes(document);
  return [
    {
      url: new URL('packages/client/src/generated/types.ts', checkout),
      text: typescriptTypes(types),
    },
    {
      url: new URL('clients/python/src/svc_client/_generated.py', checkout),
      text: pythonTypes(types),
    },
  ];
}
