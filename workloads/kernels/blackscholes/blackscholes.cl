// Prices of European options by the formula of Black and Scholes.
float normal(float d)
{
    return 0.5f * erfc(-d * 0.70710678f);
}
kernel void blackscholes(global const float *price, global const float *strike, global const float *years,
                         global float *call, global float *put, float rate, float volatility)
{
    size_t i = get_global_id(0);
    float s = price[i], k = strike[i], t = years[i];
    float spread = volatility * sqrt(t);
    float d1 = (log(s / k) + (rate + 0.5f * volatility * volatility) * t) / spread;
    float d2 = d1 - spread;
    float discounted = k * exp(-rate * t);
    call[i] = s * normal(d1) - discounted * normal(d2);
    put[i] = discounted * normal(-d2) - s * normal(-d1);
}
