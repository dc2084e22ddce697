import { MIN_SECRET_BYTES } from './jwt.ts';

// Rejects a secret that repeats one word, which would pass the length check. Random secrets have more different bytes:
// 256 random bits in hex almost surely contain all 16 digits.
const MIN_DIFFERENT_BYTES = 10;

// Placeholders in examples and templates that people forget to replace.
const PLACEHOLDER = /change.?me|replace.?me|your.?secret|password|placeholder|insecure/i;

/** Returns why a signing secret is too weak, or null if it is not. */
export function secretProblem(secret: Uint8Array): string | null {
  if (secret.length < MIN_SECRET_BYTES)
    return `the secret has ${secret.length} bytes; it needs at least ${MIN_SECRET_BYTES}`;
  if (new Set(secret).size < MIN_DIFFERENT_BYTES) return 'the secret repeats a few characters; use random ones';
  if (PLACEHOLDER.test(new TextDecoder().decode(secret)))
    return 'the secret reads like a placeholder; use random bytes';
  return null;
}

/**
 * Returns why a previous secret cannot be used, or null if it can. A weak one could be guessed while it is accepted.
 */
export function previousSecretProblem(secret: Uint8Array | undefined, previous: Uint8Array | undefined): string | null {
  if (previous === undefined) return null;
  if (secret === undefined) return 'set the secret that replaces it';
  if (Buffer.compare(secret, previous) === 0) return 'it must differ from the secret';
  return secretProblem(previous);
}

/** Returns the secret in a file, without the line break that editors append. */
export function secretFromFile(content: Uint8Array): Uint8Array {
  let end = content.length;
  while (end > 0 && (content[end - 1] === 0x0a || content[end - 1] === 0x0d)) end--;
  return content.slice(0, end);
}
