import { MIN_SECRET_BYTES } from './jwt.ts';

// A secret of one repeated word passes any length check. 256 random bits as hex show 16 characters, almost surely.
const MIN_DIFFERENT_BYTES = 10;

// What examples and templates have in the place of a secret, and people forget to replace.
const PLACEHOLDER = /change.?me|replace.?me|your.?secret|password|placeholder|insecure/i;

/** Why a signing secret is too weak to start with, or null. */
export function secretProblem(secret: Uint8Array): string | null {
  if (secret.length < MIN_SECRET_BYTES)
    return `the secret has ${secret.length} bytes, and at least ${MIN_SECRET_BYTES} are needed`;
  if (new Set(secret).size < MIN_DIFFERENT_BYTES) return 'the secret repeats a few characters; use random ones';
  if (PLACEHOLDER.test(new TextDecoder().decode(secret)))
    return 'the secret reads like a placeholder; use random bytes';
  return null;
}

/** As it stands in a file: without the line break that editors add. */
export function secretFromFile(content: Uint8Array): Uint8Array {
  let end = content.length;
  while (end > 0 && (content[end - 1] === 0x0a || content[end - 1] === 0x0d)) end--;
  return content.slice(0, end);
}
