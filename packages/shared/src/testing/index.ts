export { cellValue, changeGroup, changesetBody, clientMessage, keyPart, outcome, serverMessage } from './arbitraries.ts';
export { sampleColumn, sampleSchema, sampleTable } from './sample-schema.ts';
