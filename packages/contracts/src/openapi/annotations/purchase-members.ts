export const purchaseMembers = {
  'PurchaseIntent.reference': [
    'The id of the intent: a Solana public key.',
    '7dHbWXmci3dT8UFYWYZweBLXgycu7Y3iL6trKn1Y7ARj',
  ],
  'PurchaseIntent.amount': ['The price.', 50],
  'PurchaseIntent.status': ['The state of the intent.', 'pending'],
  'credits.purchased.reference': [
    'The purchase intent that was paid.',
    '7dHbWXmci3dT8UFYWYZweBLXgycu7Y3iL6trKn1Y7ARj',
  ],
  solanaPayUrl: [
    'The Solana Pay URL of the intent, for a wallet. Pay exactly the amount in the URL, and name its reference in the transaction.',
    'solana:mvines9iiHiQTysrwkJjGf2gb9Ex9jXJX8ns3qwf2kN?amount=50',
  ],
  paidAmount: ['The amount paid so far.', 0],
  signature: [
    'The signature of the transaction that completed the payment. Null until the intent is confirmed.',
    '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnb',
  ],
  confirmedAt: [
    'The time at which the intent became `confirmed`. Null until then.',
    '2026-03-02T09:20:00.000Z',
  ],
  payments: ['The payments of the intent, oldest first. At most 1,000 are listed.', []],
  'PurchasePayment.signature': [
    'The signature of the transaction.',
    '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnb',
  ],
  'PurchasePayment.amount': ['The amount of this payment.', 12.5],
  'PurchasePayment.at': ['The time at which the payment was recorded.', '2026-03-02T09:46:12.004Z'],
  expiresAt: [
    'The time at which the intent expires, unless it is paid in full before.',
    '2026-03-02T10:15:00.000Z',
  ],
} as const;
