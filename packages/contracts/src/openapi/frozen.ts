/** The frozen copy of the v1 document. The present document is compared with this copy. */
export const frozenDocumentUrl = new URL('../../openapi/v1.json', import.meta.url);
