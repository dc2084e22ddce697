/** HTML's names of the characters from U+00A0 to U+00FF, in order. */
const latinNames = `
  nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2
  sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc
  Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve
  Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute
  acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde
  ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml
`
  .trim()
  .split(/\s+/);

const characterByName: ReadonlyMap<string, string> = new Map([
  ...latinNames.map((name, index) => [name, String.fromCodePoint(0xa0 + index)] as const),
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['euro', '€'],
  ['ndash', '–'],
  ['mdash', '—'],
  ['lsquo', '‘'],
  ['rsquo', '’'],
  ['sbquo', '‚'],
  ['ldquo', '“'],
  ['rdquo', '”'],
  ['bdquo', '„'],
  ['hellip', '…'],
  ['bull', '•'],
  ['trade', '™'],
  ['oelig', 'œ'],
  ['OElig', 'Œ'],
  ['scaron', 'š'],
  ['Scaron', 'Š'],
]);

/**
 * Replaces entities of SGML, XML and HTML. Banks that take payees from web pages escape them once more for the file, so
 * `Moss &amp;amp; Sons` and `Caf&amp;eacute;` are replaced twice.
 */
export function withoutEntities(text: string): string {
  const once = replaced(text);
  return once === text ? text : replaced(once);
}

function replaced(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+\d{0,2}));/gi,
    (whole, decimal?: string, hexadecimal?: string, name?: string) => {
      if (name !== undefined) return characterByName.get(name) ?? characterByName.get(name.toLowerCase()) ?? whole;
      const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
      return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
    },
  );
}
