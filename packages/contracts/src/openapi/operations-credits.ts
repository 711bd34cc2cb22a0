import { Balance, TransactionPage, TransactionsQuery } from '../api/credits.ts';
import { RateCardAnswer } from '../api/rate-card.ts';
import * as examples from './examples.ts';
import type { OperationDefinition } from './operation.ts';

export const creditOperations: readonly OperationDefinition[] = [
  {
    operationId: 'getBalance',
    method: 'get',
    path: '/v1/credits/balance',
    tag: 'Credits',
    summary: 'Read the balance',
    description: '`balance` counts what is held; `available` is `balance - held`.',
    access: 'tenant',
    answers: {
      200: {
        description: 'The figures at this moment.',
        schema: Balance,
        example: examples.balance,
      },
    },
    errors: [],
  },
  {
    operationId: 'getRateCard',
    method: 'get',
    path: '/v1/rate-card',
    tag: 'Credits',
    summary: 'Read the prices',
    description:
      '`charge = clamp(base + Σ weight × usage, min, max) × tierMultiplier × surge`, rounded half up once to six decimals. Surge and version are pinned when a submission is quoted.',
    access: 'tenant',
    answers: {
      200: {
        description: 'The rate card in force for this tenant.',
        schema: RateCardAnswer,
        example: examples.rateCard,
      },
    },
    errors: [],
  },
  {
    operationId: 'listTransactions',
    method: 'get',
    path: '/v1/credits/transactions',
    tag: 'Credits',
    summary: 'Read the statement',
    description:
      'Every movement of credits, newest first. `amount` is always positive; the figures are those after it.',
    access: 'tenant',
    query: TransactionsQuery,
    answers: {
      200: {
        description: 'One page.',
        schema: TransactionPage,
        example: { data: [examples.transaction], nextCursor: null },
      },
    },
    errors: [],
  },
];
