import { expect, it } from 'vitest';
import { Oracle } from './oracle.ts';

function judged(numbers: readonly number[], counter: number = numbers.length): string | null {
  const oracle = new Oracle();
  const [resolved, rejected] = [oracle.begin(), oracle.begin()];
  oracle.begin();
  oracle.settle(resolved, 'resolved');
  oracle.settle(rejected, 'rejected');
  return oracle.expectation()({ numbers, counter });
}

it('the oracle accepts resolved writes, with or without the unresolved ones', () => {
  expect(judged([0])).toBeNull();
  expect(judged([0, 2])).toBeNull();
});

it('the oracle finds writes that are lost, doubled, partial, or present after they failed or never happened', () => {
  expect(judged([2])).toMatch('lost: 0');
  expect(judged([0, 0])).toMatch('twice');
  expect(judged([0], 2)).toMatch('incomplete');
  expect(judged([0, 1])).toMatch('failed: 1');
  expect(judged([0, 7])).toMatch('failed: 7');
});

it('the oracle lets a read miss writes that resolved after it began', () => {
  const oracle = new Oracle();
  const number = oracle.begin();
  const judge = oracle.expectation();
  oracle.settle(number, 'resolved');
  expect(judge({ numbers: [], counter: 0 })).toBeNull();
});
