/** Returns the QR code of `content` as an SVG. The first call loads the library. */
export async function qrCodeSvg(content: string): Promise<string> {
  const { default: qrCode } = await import('qrcode');
  return await qrCode.toString(content, { type: 'svg', errorCorrectionLevel: 'M', margin: 2 });
}
