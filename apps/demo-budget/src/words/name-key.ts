/**
 * Equal for two texts that people read as one name, whatever their case, spaces and Unicode form: `Straße `, `STRASSE`.
 */
export function nameKey(name: string): string {
  return name.normalize('NFC').toUpperCase().normalize('NFC').replace(/\s+/gu, ' ').trim();
}

/** The known name that a typed one means, or otherwise the typed one, without spaces around it. */
export function knownName(names: readonly string[], typed: string): string {
  const key = nameKey(typed);
  return names.find((name) => nameKey(name) === key) ?? typed.trim();
}
