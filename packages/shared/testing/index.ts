export { anyCharacter } from './any-character.ts';
export {
  cellValue,
  changeGroup,
  changesetBody,
  clientMessage,
  keyPart,
  outcome,
  serverMessage,
} from './arbitraries.ts';
export { sampleColumn, sampleSchema, sampleTable } from './sample-schema.ts';
export { HOSTILE_START, hostileEdits } from './hostile-edits.ts';
export { DocumentAuthor } from './document-author.ts';
