export interface AuthorWords {
  /** The principal that authors this device's changes. */
  readonly device: string;
  readonly names: ReadonlyMap<string, string>;
  /** This user joined by invitation, and so has a principal of their own. */
  readonly isMember: boolean;
}

/**
 * The author of a change, in words. Invited members have a name. The owner's devices author changes under their own
 * principals, which have a name once the owner has entered one.
 */
export function authorName(author: string, { device, names, isMember }: AuthorWords): string {
  if (author === device) return 'this device';
  const name = names.get(author);
  if (name !== undefined) return name;
  return isMember && author.startsWith('device-') ? 'the owner' : 'another device';
}
