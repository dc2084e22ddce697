// What documents need beyond any other column. One chunk, with Yjs in it: load-document-support.ts brings it in where a
// schema has documents.
export {
  canonicalJson,
  decodeDocumentCell,
  documentText,
  expandContent,
  isDocumentEdit,
  isUpdateOf,
  mergeEdit,
  mergeEdits,
  mergeDelivered,
  withValueAt,
} from '@rockpool/shared/document';
export { makeDocumentsCanonical } from './canonical-documents.ts';
export { deleteUnusedBases } from './document-bases.ts';
export { captureDocuments } from './capture-documents.ts';
export { changeDocument, readDocument } from './change-document.ts';
export { DocumentTable } from './document-table.ts';
export { rewriteEdits } from './rewrite-edits.ts';
export { documentsAsJson } from './documents-as-json.ts';
