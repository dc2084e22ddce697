/** Invented statements that ship with the app, for users who want to try an import before using their own. */
export const samples: readonly { readonly fileName: string; readonly title: string; readonly currency: string }[] = [
  {
    fileName: 'meridian-giro.csv',
    title: 'Meridian Giro: half a year, German headings, semicolons and decimal commas',
    currency: 'EUR',
  },
  {
    fileName: 'harbour-checking.csv',
    title: 'Harbour Checking: two years, 2,000 rows, memos over several lines',
    currency: 'USD',
  },
];
