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
    'The URL for a wallet. Pay exactly its amount, with its reference.',
    'solana:mvines9iiHiQTysrwkJjGf2gb9Ex9jXJX8ns3qwf2kN?amount=50',
  ],
  paidAmount: ['The amount paid so far.', 0],
  signature: [
    'The signature of the transaction that paid the rest of the amount. Null until the amount is paid.',
    '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnb',
  ],
  confirmedAt: ['The time of the confirmation.', '2026-03-02T09:20:00.000Z'],
  payments: ['Every payment of the intent.', []],
  'PurchasePayment.signature': [
    'The signature of the transaction.',
    '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnb',
  ],
  'PurchasePayment.amount': ['The amount of this payment.', 12.5],
  'PurchasePayment.at': ['The time at which the payment was recorded.', '2026-03-02T09:46:12.004Z'],
  expiresAt: ['The time at which an unpaid intent expires.', '2026-03-02T10:15:00.000Z'],
} as const;
