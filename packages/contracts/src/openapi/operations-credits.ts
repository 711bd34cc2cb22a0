import { Balance, TransactionPage, TransactionsQuery } from '../api/credits.ts';
import { RateCardAnswer } from '../api/rate-card.ts';
import * as examples from './annotations/examples.ts';
import type { OperationDefinition } from './operation.ts';

export const creditOperations: readonly OperationDefinition[] = [
  {
    operationId: 'getBalance',
    method: 'get',
    path: '/v1/credits/balance',
    tag: 'Credits',
    summary: 'Read the balance',
    description: '`balance` includes held credits; `available` is `balance - held`.',
    access: 'tenant',
    answers: {
      200: {
        description: 'The current figures.',
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
      'A completed job is charged `clamp(base + Σ weight × usage, min, max) × tierMultiplier × surge`, rounded half up once to six decimals. A submission keeps the surge and the version of the rate card that its quote used.',
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
      'The movements of credits, newest first. The rebate on charges is listed when it is paid out, not when it accrues. `amount` is always positive. `balanceAfter`, `heldAfter` and `availableAfter` are the figures after the movement.',
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
