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
export { forgetBases } from './document-bases.ts';
export { captureDocuments } from './capture-documents.ts';
export { changeDocument, readDocument } from './change-document.ts';
export { DocumentTable } from './document-table.ts';
export { rewriteEdits } from './edits-of-new-site.ts';
export { documentsAsText } from './write-again.ts';
