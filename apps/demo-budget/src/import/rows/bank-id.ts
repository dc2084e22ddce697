// What banks write where a reference is required and they have none: "NOTPROVIDED" in CAMT, "NONREF" in files that were
// MT940 before, zeros in OFX.
const placeholder = /^(?:NOT ?PROVIDED|NON?REF|NONE|N\/A|[-.0]+)$/i;

/** The bank's id of an entry. Empty for a placeholder, which would make different entries of two statements one. */
export function bankIdOf(text: string): string {
  return placeholder.test(text) ? '' : text;
}
