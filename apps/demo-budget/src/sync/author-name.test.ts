import { describe, expect, it } from 'vitest';
import { authorName } from './author-name.ts';

const names = new Map([
  ['person-1', 'Ben'],
  ['device-00000001', 'Anna'],
]);

describe('the author of a change', () => {
  it('is shown by name to the owner and to a member, except on the device itself', () => {
    expect(authorName('person-1', { device: 'device-00000001', names, isMember: false })).toBe('Ben');
    expect(authorName('device-00000001', { device: 'person-1', names, isMember: true })).toBe('Anna');
    expect(authorName('person-1', { device: 'person-1', names, isMember: true })).toBe('this device');
  });

  it('is shown to a member as the owner, and to the owner as another device, if it has no name', () => {
    expect(authorName('device-00000002', { device: 'person-1', names, isMember: true })).toBe('the owner');
    expect(authorName('device-00000002', { device: 'device-00000001', names, isMember: false })).toBe('another device');
  });
});
