import { expect, test } from 'vitest';
import { bareId, projectOf, qualify } from '../../../shared/model/pubsub-name.ts';

test('names of topics and subscriptions are made whole and taken apart', () => {
  expect(qualify('orders', 'topics', 'p')).toBe('projects/p/topics/orders');
  expect(qualify('orders', 'topics', undefined)).toBe('orders');
  expect(qualify('projects/q/topics/orders', 'topics', 'p')).toBe('projects/q/topics/orders');
  expect(bareId('projects/q/topics/orders')).toBe('orders');
  expect(bareId('orders')).toBe('orders');
  expect(projectOf('projects/q/topics/orders')).toBe('q');
  expect(projectOf('orders')).toBeUndefined();
});
