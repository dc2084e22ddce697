// The code that only documents need, including Yjs, in one chunk. load-document-support.ts loads it for a schema with
// documents.
export {
  canonicalJson,
  decodeDocumentCell,
  documentText,
  isDocumentEdit,
  withValueAt,
} from '@rockpool/shared/document';
export { makeDocumentsCanonical } from './canonical-documents.ts';
export { captureDocuments } from './capture-documents.ts';
export { changeDocument, readDocument } from './change-document.ts';
export { bindToStates } from './document-rebase.ts';
export { DocumentTable } from './document-table.ts';
export { rewriteEdits } from './rewrite-edits.ts';
export { storeDocuments } from './document-storage.ts';
export { undoDocument, withDocumentTexts } from './undo-documents.ts';
export { documentsAsJson } from './documents-as-json.ts';
