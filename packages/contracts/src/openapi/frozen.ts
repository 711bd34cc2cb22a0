/**
 * The frozen copy of the OpenAPI document of v1. The present document is compared with this copy.
 */
export const frozenDocumentUrl = new URL('../../openapi/v1.json', import.meta.url);
