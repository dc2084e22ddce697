import { foreignFormatWords, type ForeignFormat } from './foreign-format.ts';

/**
 * Why a whole file cannot be imported. Plain data without any contents of the file, so that it may be shown and logged.
 */
export type FileProblem =
  | { readonly code: 'file-empty' }
  | { readonly code: 'file-too-large'; readonly sizeBytes: number; readonly maxBytes: number }
  | { readonly code: 'file-not-text'; readonly looksLike: 'spreadsheet' | 'pdf' | 'image' | 'unknown' }
  | { readonly code: 'file-is-web-page' }
  | { readonly code: 'file-not-a-table' }
  | { readonly code: 'file-format-unknown'; readonly found: ForeignFormat }
  | { readonly code: 'file-wrong-delimiter'; readonly delimiter: Delimiter; readonly suggested: Delimiter }
  | { readonly code: 'file-quote-unclosed'; readonly rowNumber: number }
  | { readonly code: 'file-cut-off' }
  | { readonly code: 'file-has-no-entries' }
  | { readonly code: 'file-is-refusal' }
  | { readonly code: 'file-too-many-rows'; readonly rowCount: number; readonly maxRows: number };

export type Delimiter = ',' | ';' | '\t';

const delimiterNames: Readonly<Record<Delimiter, string>> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' };

export function delimiterName(delimiter: Delimiter): string {
  return delimiterNames[delimiter];
}

/** The message for the user, with the remedy. Nothing has been imported when it is shown. */
export function fileProblemSentence(problem: FileProblem): string {
  switch (problem.code) {
    case 'file-empty':
      return 'This file is empty. Export it from your bank again.';
    case 'file-too-large':
      return `This file has ${megabytes(problem.sizeBytes)} MB, more than the ${megabytes(problem.maxBytes)} MB that can be imported at once. Export a shorter period.`;
    case 'file-not-text':
      switch (problem.looksLike) {
        case 'spreadsheet':
          return 'This is a spreadsheet, not a bank’s export. Open it and save it as CSV, then choose that file.';
        case 'pdf':
          return 'This is a PDF. Ask your bank for the same statement as CSV or OFX.';
        case 'image':
          return 'This is a picture, not a bank’s export.';
        case 'unknown':
          return 'This is not a text file, so it cannot be a bank’s export.';
      }
      break;
    case 'file-is-web-page':
      return 'This is a web page. Your bank probably logged you out before the export was saved.';
    case 'file-not-a-table':
      return 'No table with several columns was found in this file.';
    case 'file-format-unknown':
      return `This file contains ${foreignFormatWords[problem.found]}. CSV, OFX, QFX, QIF and CAMT.052 or CAMT.053 can be imported. Ask your bank for one of these.`;
    case 'file-wrong-delimiter':
      return `The columns of this file are not separated by ${delimiterName(problem.delimiter)}. Try ${delimiterName(problem.suggested)}.`;
    case 'file-quote-unclosed':
      return `A quotation mark in row ${problem.rowNumber} is not closed in its row, so the rows below cannot be read. Correct that row, or export the file again.`;
    case 'file-cut-off':
      return 'This file is incomplete, so entries may be missing. Export it from your bank again.';
    case 'file-has-no-entries':
      return 'This file is a statement without any entries. Export another period.';
    case 'file-is-refusal':
      return 'This file contains an error message from the bank instead of a statement. Export it again.';
    case 'file-too-many-rows':
      return `This file has ${problem.rowCount.toLocaleString('en')} rows, more than the ${problem.maxRows.toLocaleString('en')} that can be imported at once. Export a shorter period.`;
  }
}

function megabytes(sizeBytes: number): string {
  return (sizeBytes / 1_048_576).toFixed(sizeBytes < 10_485_760 ? 1 : 0);
}
