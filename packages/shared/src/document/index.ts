// A separate entry point because it imports Yjs, which an app without document columns never loads.
export {
  baseIdOf,
  carryOver,
  clientsOf,
  compactDocument,
  createDocument,
  documentText,
  editDocument,
  editWithGap,
  expandContent,
  isEditOf,
  isSameDocument,
  mergeEdit,
  mergeEdits,
  mergeForeignEdit,
  mergeDelivered,
  operationsIn,
  operationsOf,
  readContent,
  rememberDocumentText,
  toLayers,
  completeState,
  type Author,
  type CarriedEdit,
  type DocumentEdit,
  type MergedEdit,
  type ReadBase,
} from './document.ts';
export { valueAt, withoutValueAt, withValueAt, type DocumentPath, type PathStep } from './document-path.ts';
export { type OperationId, type OverwrittenMember } from './overwritten.ts';
export { clientIdOf } from './document-id.ts';
export {
  decodeDocumentCell,
  encodeDocumentCell,
  isDocumentEdit,
  updateOfState,
  type DocumentCell,
} from './document-cell.ts';
export { elementName } from './element-names.ts';
export { PathRule } from './document-rule.ts';
export { writeJson } from './write-json.ts';
export { canonicalRichTexts, type RichText, type Run } from './rich-text.ts';
export { canonicalTextOf, readChangedJson, readStoredJson, type JsonText } from './json-text.ts';
export { canonicalJson, checkJson, parseJson, toCanonicalText, type JsonObject, type JsonValue } from './json.ts';
export { readNode, rootOf, rootValue, type MapNode, type Node } from './json-node.ts';
export {
  applyChange,
  diffJson,
  invertChange,
  mergeJsonTexts,
  withPlacesOf,
  type ChangedJson,
  type ChangedPlace,
  type JsonChange,
} from './json-change.ts';
