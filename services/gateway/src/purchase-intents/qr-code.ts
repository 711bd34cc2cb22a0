/** The library is loaded at the first use. */
export async function qrCodeSvg(content: string): Promise<string> {
  const { default: qrCode } = await import('qrcode');
  return await qrCode.toString(content, { type: 'svg', errorCorrectionLevel: 'M', margin: 2 });
}
